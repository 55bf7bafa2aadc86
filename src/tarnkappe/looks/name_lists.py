"""Common names of people, by language: short lists, as they can be kept by hand.

They are there to notice a column of names under another heading, not to know every name. Names that are also common
words, colours, months, countries or regions are left out, because columns of those must not be taken for names.
"""

from __future__ import annotations

from functools import cache

_FIRST: dict[str, str] = {
    "English": """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob
    gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory raymond patrick
    alexander jack dennis jerry tyler aaron jose adam nathan henry douglas zachary peter kyle noah ethan jeremy
    walter keith liam oliver mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy
    betty margaret sandra ashley kimberly emily donna michelle carol amanda dorothy melissa deborah stephanie
    rebecca sharon laura cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen samantha
    katherine christine debra rachel carolyn janet catherine maria heather diane ruth julie olivia joyce kelly
    christina lauren joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann sara
    madison frances kathryn janice jean abigail alice julia sophia bob tom jim bill mike joe steve dave chris ben
    sam alex kate jane anne lucy sophie ella mia ava amelia isla carl""",
    "German": """
    hans peter wolfgang klaus juergen jürgen dieter manfred uwe guenter günter horst bernd frank michael stefan
    andreas thomas matthias martin joachim ralf markus jens lars sven torsten thorsten kai jan tim lukas finn
    jonas leon felix maximilian moritz niklas florian sebastian tobias dominik philipp johannes heinrich friedrich
    karl otto walter werner helmut gerhard rolf kurt heinz herbert erich ursula monika petra sabine renate helga
    karin brigitte ingrid erika gisela christa elke baerbel bärbel gabriele susanne heike birgit angelika claudia
    andrea martina kerstin silke anja katrin kathrin stefanie nicole tanja julia katharina lena leonie lea marie
    hannah emilia johanna charlotte greta frieda ilse gertrud hildegard irmgard waltraud annegret ute jutta marion
    cornelia ulrike anke""",
    "French": """
    jean pierre michel andre andré philippe alain bernard jacques daniel patrick nicolas christophe francois
    françois laurent frederic frédéric sebastien sébastien julien guillaume antoine mathieu thierry olivier gerard
    gérard stephane stéphane pascal eric éric yves rene rené claude henri louis hugo gabriel raphael lucas jules
    marie nathalie isabelle sylvie catherine francoise françoise martine christine monique valerie valérie
    sandrine stephanie veronique véronique sophie celine céline chantal patricia anne brigitte aurelie aurélie
    camille lea léa manon chloe chloé elodie élodie emilie émilie pauline juliette helene hélène dominique
    jacqueline jeanne odile solange""",
    "Spanish": """
    antonio jose josé manuel francisco juan david javier jesus jesús carlos miguel alejandro rafael pedro angel
    ángel fernando luis pablo sergio jorge alberto alvaro álvaro diego adrian adrián raul raúl enrique ramon ramón
    vicente ivan iván ruben rubén oscar óscar andres andrés joaquin joaquín eduardo roberto ricardo maria maría
    carmen josefa isabel dolores pilar teresa ana francisca laura cristina antonia marta lucia lucía mercedes
    rosario juana raquel beatriz rosa elena sara concepcion concepción paula manuela luisa irene rocio rocío
    guadalupe esperanza consuelo ximena""",
    "Italian": """
    giuseppe giovanni antonio mario luigi francesco angelo vincenzo pietro salvatore carlo franco domenico bruno
    paolo michele giorgio aldo sergio luciano roberto marco andrea alessandro matteo lorenzo stefano davide simone
    luca fabio riccardo claudio massimo giulia chiara francesca federica sara martina valentina alessia elisa
    silvia giovanna angela lucia caterina giuseppina rosa teresa carmela concetta filomena paola anna laura elena
    alessandra roberta""",
    "Polish": """
    jan andrzej piotr krzysztof stanislaw stanisław tomasz pawel paweł jozef józef marcin marek michal michał
    grzegorz jerzy tadeusz adam lukasz łukasz zbigniew ryszard dariusz henryk mariusz kazimierz wojciech robert
    mateusz jakub anna maria katarzyna malgorzata małgorzata agnieszka krystyna barbara ewa elzbieta elżbieta
    zofia teresa janina magdalena monika danuta jadwiga aleksandra halina irena beata dorota jolanta grazyna
    grażyna zuzanna""",
    "Dutch": """
    johannes jan cornelis hendrik willem pieter gerrit jacobus daan sem bram thijs joost sander jeroen wouter bart
    koen ruben dirk maarten johanna cornelia wilhelmina hendrika anneke ingrid marieke sanne fleur femke lieke
    saskia esther mirjam annemarie truus joke greetje""",
    "Turkish": """
    mehmet mustafa ahmet ali hüseyin huseyin hasan ibrahim ismail osman yusuf murat ömer omer ramazan halil
    süleyman suleyman abdullah mahmut recep emre burak fatma ayse ayşe emine hatice zeynep elif meryem serife
    şerife sultan hanife merve zehra esra özlem ozlem yasemin gül hülya hulya""",
    "Scandinavian": """
    lars anders johan erik karl per nils olof jan gunnar sven bengt bo leif mikael magnus henrik fredrik björn
    bjorn ole jens hans niels kjell arne knut odd tor anna eva maria karin kristina margareta elisabeth birgitta
    ingrid marianne kerstin lena astrid inger kirsten hanne mette bodil solveig liv gunvor sigrid linnea saga""",
    "Slavic": """
    aleksandr alexandr sergei sergey dmitri dmitry andrei andrey alexei alexey mikhail nikolai vladimir ivan igor
    oleg yuri viktor pavel maxim anton olga natalia natalya elena tatiana tatyana irina svetlana ekaterina galina
    ludmila anastasia oksana yulia milan dragan zoran goran dejan nikola marko jovan jelena milica dragana
    ljiljana petar""",
    "Arabic": """
    mohammed muhammad mohamed mohammad ahmed ahmad mahmoud hassan hussein ibrahim youssef yousef khaled khalid
    abdullah abdul omar karim tarek samir rashid fatima aisha khadija maryam mariam zainab layla leila amina noor
    nour hanan salma yasmin samira rania huda""",
    "Indian": """
    rahul amit raj rajesh sanjay vijay suresh ramesh anil sunil manoj ravi arun ashok deepak vikram arjun rohit
    krishna priya anjali pooja neha sunita anita kavita lakshmi sita geeta meena rekha divya shreya ananya""",
    "Chinese": """
    wei fang xiu ying jing yong jie juan tao ming chao ping gang guiying xiaoming xiaohong hui lei qiang jun hong
    mei yan xin yu hao zhang wang li liu chen yang huang zhao wu zhou xu zhu hu guo lin luo zheng liang""",
}

_FAMILY: dict[str, str] = {
    "English": """
    smith johnson williams jones davis miller wilson moore taylor anderson jackson harris thompson garcia martinez
    robinson clark rodriguez lewis walker allen wright hernandez lopez gonzalez nelson carter mitchell perez
    roberts turner phillips campbell parker evans edwards collins stewart sanchez morris rogers reed cook morgan
    murphy bailey rivera cooper richardson cox howard torres peterson ramirez watson brooks sanders bennett hughes
    patel khan""",
    "German": """
    mueller müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schaefer schäfer koch bauer
    klein schroeder schröder neumann schwarz zimmermann braun krueger krüger hofmann hartmann lange schmitt krause
    meier lehmann schmid schulze maier koehler köhler herrmann koenig könig walter mayer huber kaiser fuchs peters
    lang scholz moeller möller weiss weiß jung hahn schubert vogel friedrich keller guenther günther frank berger
    winkler roth beck lorenz baumann franke albrecht schuster simon ludwig boehm böhm winter kraus schumacher
    kraemer krämer vogt""",
    "French": """
    martin bernard dubois robert petit durand leroy moreau simon laurent lefebvre michel garcia bertrand roux
    vincent fournier morel girard lefevre lefèvre mercier dupont lambert bonnet martinez rousseau blanc guerin
    guérin""",
    "Spanish": """
    gonzalez gonzález rodriguez rodríguez fernandez fernández lopez lópez martinez martínez sanchez sánchez perez
    pérez gomez gómez martin jimenez jiménez ruiz hernandez hernández diaz díaz moreno alvarez álvarez munoz muñoz
    romero alonso gutierrez gutiérrez navarro dominguez domínguez vazquez vázquez ramos gil ramirez ramírez
    serrano molina morales""",
    "Italian": """
    rossi russo ferrari esposito bianchi romano colombo ricci marino greco gallo conti mancini costa giordano
    rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini leone longo
    gentile""",
    "Polish": """
    nowak kowalski kowalska wisniewski wiśniewski wisniewska wojcik wójcik kowalczyk kaminski kamiński lewandowski
    zielinski zieliński szymanski szymański wozniak woźniak dabrowski dąbrowski kozlowski kozłowski jankowski""",
    "Dutch": """
    jansen bakker visser smit meijer mulder bos vos peters hendriks dekker brouwer dijkstra smits""",
    "Turkish": """
    yilmaz yılmaz kaya demir celik çelik sahin şahin yildiz yıldız yildirim yıldırım ozturk öztürk aydin aydın
    ozdemir özdemir arslan dogan doğan kilic kılıç aslan cetin çetin koc koç""",
    "Scandinavian": """
    andersson johansson karlsson nilsson eriksson larsson olsson persson svensson gustafsson hansen johansen olsen
    larsen andersen pedersen nielsen jensen christensen rasmussen sorensen sørensen virtanen korhonen""",
    "Slavic": """
    ivanov ivanova petrov petrova sidorov smirnov smirnova kuznetsov popov popova volkov sokolov horvat novak
    kovacevic jovanovic petrovic nikolic markovic novakova svoboda dvorak novotny""",
    "Indian": """
    sharma singh kumar gupta patel reddy rao verma mehta jain nair iyer das chatterjee mukherjee banerjee shah""",
    "East Asian": """
    nguyen tran pham kim park choi jung kang cho tanaka suzuki sato takahashi watanabe ito yamamoto nakamura""",
}

#: Names in scripts of their own, first names and family names together.
_SCRIPTS: dict[str, str] = {
    "Russian": """
    александр сергей дмитрий андрей алексей владимир иван николай михаил евгений павел максим игорь олег юрий
    виктор артём артем денис роман анатолий василий пётр петр константин илья никита кирилл григорий фёдор борис
    анна мария елена ольга наталья татьяна ирина екатерина светлана людмила анастасия юлия дарья ксения галина
    валентина нина тамара алина марина оксана полина виктория иванов иванова смирнов смирнова кузнецов кузнецова
    попов попова васильев васильева петров петрова соколов соколова михайлов новиков фёдоров морозов волков
    алексеев лебедев семёнов егоров павлов козлов степанов николаев орлов андреев макаров захаров""",
    "Ukrainian": """
    олександр сергій дмитро андрій олексій володимир іван микола михайло юрій тарас богдан василь петро ганна
    олена наталія тетяна ірина катерина світлана людмила оксана шевченко бондаренко коваленко ткаченко кравченко
    ковальчук коваль мельник олійник поліщук""",
    "Bulgarian and Serbian": """
    георги димитър стоян тодор христо никола петар марко стефан милан драган зоран јован ђорђе иванка димитрова
    георгиев георгиева димитров петровић јовановић николић марковић ђорђевић стојановић""",
    "Greek": """
    γιώργος γιωργος γεώργιος δημήτρης δημητρης κώστας κωστας κωνσταντίνος ιωάννης γιάννης γιαννης νίκος νικος
    νικόλαος παναγιώτης χρήστος βασίλης αθανάσιος σπύρος μιχάλης μαρία μαρια ελένη ελενη κατερίνα αικατερίνη
    βασιλική σοφία άννα αναστασία δήμητρα γεωργία ιωάννα παπαδόπουλος παπαδοπουλος παπαδοπούλου γεωργίου δημητρίου
    νικολάου παπαγεωργίου οικονόμου ιωάννου αντωνίου""",
    "Arabic": """
    محمد أحمد احمد علي حسن حسين محمود عمر خالد يوسف إبراهيم ابراهيم مصطفى عبدالله سعيد سالم طارق ياسر كريم فاطمة
    عائشة مريم زينب خديجة سارة نور ليلى هدى أمينة سلمى رانيا العلي الحسن الحسين المصري الشامي السيد""",
    "Hebrew": """
    דוד משה יוסף אברהם יעקב יצחק דניאל מיכאל יונתן איתן אורי נועם שרה רחל רבקה לאה מרים אסתר חנה נועה תמר יעל
    מיכל כהן לוי מזרחי פרץ ביטון פרידמן אברהמי""",
    "Hindi": """
    राहुल अमित राजेश सुरेश रमेश संजय विजय अनिल मोहन राम अर्जुन पूजा सुनीता अनीता प्रिया नेहा सीता गीता शर्मा सिंह
    कुमार गुप्ता पटेल वर्मा""",
    "Japanese": """
    佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 斎藤 清水
    山崎 太郎 花子 健一 陽子
    さくら""",
}

#: The commonest Chinese family names, by which a name of two or three signs begins.
CHINESE = "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾萧蕭田董袁潘"

#: The commonest Korean family names, by which a name of three syllables begins.
KOREAN = "김이박최정강조윤장임한오서신권황안송류홍전고문손양배백허유남심노하곽성차주우구"

#: The languages that the lists are for.
LANGUAGES: tuple[str, ...] = tuple(dict.fromkeys([*_FIRST, *_FAMILY, *_SCRIPTS, "Chinese", "Korean"]))


@cache
def all_names() -> frozenset[str]:
    """All names of all lists, in lower case."""
    lists = (_FIRST, _FAMILY, _SCRIPTS)
    return frozenset(name for part in lists for names in part.values() for name in names.split())


@cache
def joined_names() -> tuple[str, ...]:
    """Names of scripts that write a first name and a family name without a space between them."""
    return tuple(_SCRIPTS["Japanese"].split())
